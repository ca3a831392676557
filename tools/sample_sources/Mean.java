import java.util.Arrays;

public class Mean {
    public static void main(String[] args) {
        double[] x = {1, 2, 3, 6};
        System.out.println(Arrays.stream(x).average().getAsDouble());
    }
}
